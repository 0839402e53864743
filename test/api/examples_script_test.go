package api

const scriptFull = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    image: localhost/assay-test/tomcat:9.0
    server: {tomcat: {}}
    readiness: {path: /ready}
  clients: {replicas: 3}
  script:
    configMapName: shop
    file: tests/main.js
    directories: [{path: lib/checks, configMapName: checks}, {path: tests, configMapName: shop-tests}]
    hostNames: [www.example.org, shop]
    env:
    - {name: USERS, value: "10 $(HOME)"}
    - {name: K6_VUS, value: "5"}
    - {name: TOKEN, secretKeyRef: {name: shop.a, key: token}}
    - {name: MODE, configMapKeyRef: {name: conf, key: mode}}
    - {name: NODE, fieldRef: {fieldPath: spec.nodeName}}
    tags: [{name: team, value: web-shop}]
    outputs:
      prometheusRemoteWrite:
        url: http://prometheus.monitoring.svc:9090/api/v1/write
        trendStatistics: [p(95), p(99.9), max]
        authentication: {scheme: Basic, secretName: prometheus}
      openTelemetry:
        endpoint: collector.monitoring.svc:4317
        protocol: GRPC
        encryption: None
        headersSecretRef: {name: collector, key: headers}
`

const scriptBearer = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    server: {external: {url: "https://web.example.org"}}
    readiness: {path: /}
  script:
    configMapName: shop
    outputs:
      prometheusRemoteWrite:
        url: https://mimir.example.org/api/v1/push
        authentication: {scheme: Bearer, secretName: mimir}
`
