package api

// tomcatTool has clients that run another load generator.
const tomcatTool = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: tool}
spec:
  target: {image: "localhost/assay-test/tomcat:9.0", server: {tomcat: {}}}
  clients: {tool: {name: Siege, image: "localhost/assay-test/siege:4", imagePullPolicy: Always}}
  load: {requests: [{path: "/a?b=%20c"}], closed: {connections: 149, requestCount: 99979}, warmup: {requestCount: 149}}
`

// openK6 has a load by a build of k6.
const openK6 = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: k6}
spec:
  target: {image: "localhost/assay-test/tomcat:9.0", server: {tomcat: {connector: {http2: Enabled}}}, tls: {certificate: {selfSigned: {}}, ciphers: [ECDHE-RSA-AES128-GCM-SHA256]}}
  clients: {tool: {name: K6}, image: "localhost/k6:own"}
  load:
    requests: [{name: small, path: /a, weight: 3, expect: {bodyBytes: 5}}, {path: /b, method: PUT, body: {sizeBytes: 1048576}}]
    client: {protocol: HTTP2}
    stages: {levels: [{requestsPerSecond: 5, holdSeconds: 5}]}
    warmup: {durationSeconds: 5}
  thresholds: [{metric: LatencyP99, request: small, below: 50ms}]
`

// examples are runs that have every field of the spec between them, none with
// its default, so that what is true of every field can be tried on them.
var examples = map[string]string{
	"tomcat":            base,
	"generic":           genericBase,
	"tomcat, tool":      tomcatTool,
	"tomcat, k6":        openK6,
	"tomcat, full":      tomcatFull,
	"httpd, full":       httpdFull,
	"nginx, full":       nginxFull,
	"users, full":       usersFull,
	"block":             blockFull,
	"generic, full":     genericFull,
	"external, full":    externalFull,
	"external, trusted": externalTrusted,
	"script, full":      scriptFull,
	"script, bearer":    scriptBearer,
}

// leasts have only what a server can't do without.
var leasts = map[string]string{
	"tomcat":         `spec: {target: {server: {tomcat: {}}}}`,
	"httpd":          `spec: {target: {server: {tomcat: null, httpd: {}}}}`,
	"nginx":          `spec: {target: {server: {tomcat: null, nginx: {}}}}`,
	"generic":        `spec: {target: {server: {tomcat: null, generic: {}}}}`,
	"external":       `spec: {target: {image: null, server: {tomcat: null, external: {url: "http://www.example.org"}}}}`,
	"external https": `spec: {target: {image: null, server: {tomcat: null, external: {url: "https://[2001:db8::1]:8443"}}}}`,
}

// podFull has the fields of spec.target and of spec.clients that are those of a pod.
const podFull = `    labels: {example.org/team: web, app.kubernetes.io/part-of: shop}
    annotations: {example.org/team: web}
    env: [{name: TZ, value: UTC}, {name: KEY, secretKeyRef: {name: keys, key: token}}, {name: MODE, configMapKeyRef: {name: conf, key: mode}}, {name: NODE, fieldRef: {fieldPath: spec.nodeName}}]
    volumes:
    - {name: apps, persistentVolumeClaim: {claimName: apps, readOnly: true}}
    - {name: conf, configMap: {name: conf, defaultMode: 288, optional: true, items: [{key: a, path: b}]}}
    - {name: keys, secret: {secretName: keys, defaultMode: 256, optional: true, items: [{key: a, path: b}]}}
    - {name: shm, emptyDir: {medium: Memory}}
    volumeMounts:
    - {name: apps, mountPath: /opt/apps, subPath: war, readOnly: true}
    - {name: shm, mountPath: /dev/shm2}
    nodeSelector: {disk: nvme}
    affinity:
      nodeAffinity:
        requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [nvme]}]}]}
        preferredDuringSchedulingIgnoredDuringExecution: [{weight: 10, preference: {matchExpressions: [{key: fast, operator: In, values: ["yes"]}]}}]
      podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: batch}}, topologyKey: kubernetes.io/hostname}]}
    tolerations: [{key: benchmark, operator: Equal, value: web, effect: NoExecute}]
    priorityClassName: high
    runtimeClassName: runc
    imagePullSecrets: [{name: registry}]
    hostAliases: [{ip: 10.0.0.1, hostnames: [db.example.org, db]}]
    dnsConfig: {nameservers: [10.0.0.10], searches: [example.org], options: [{name: ndots, value: "1"}, {name: use-vc}]}
    securityContext:
      runAsUser: 1001
      runAsGroup: 1001
      runAsNonRoot: true
      seccompProfile: {type: Localhost, localhostProfile: profiles/server.json}
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: {add: [NET_BIND_SERVICE], drop: [ALL]}
      fsGroup: 2000
      supplementalGroups: [3000]
      sysctls: [{name: net.ipv4.ip_local_port_range, value: 1024 65535}]
`

const tomcatFull = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    image: localhost/assay-test/tomcat:9.0
    imagePullPolicy: Always
    imagePullSecrets: [{name: registry}]
    resources: {cpu: "2", memory: 2Gi, cpuPinning: Required}
    server:
      tomcat:
        home: /opt/tomcat
        base: /var/lib/tomcat
        connector:
          protocol: NIO2
          port: 8444
          maxThreads: 400
          minSpareThreads: 20
          acceptCount: 1000
          maxConnections: 20000
          connectionTimeoutMilliseconds: 20000
          keepAlive: {maxRequests: 1000, timeoutMilliseconds: 20000}
          executor: Shared
          sendfile: Disabled
          compression: Enabled
          compressionMinSizeBytes: 1024
          http2: Enabled
          http2Limits: {maxConcurrentStreams: 200, maxConcurrentStreamExecution: 100, attributes: [{name: overheadCountFactor, value: "0"}]}
          tlsImplementation: OpenSSL
          honorCipherOrder: Enabled
          attributes: [{name: processorCache, value: "500"}]
        applications: Image
        ajp: {port: 8010, maxThreads: 300}
        jvmOptions: ["-Xmx1g", "-Durl=a?b&c|d;e$(f)"]
        accessLog: Enabled
        gcLog: Enabled
        configuration: {configMapName: tomcat-conf}
    tls:
      protocols: [TLSv1.2, TLSv1.3]
      ciphers: [ECDHE-ECDSA-AES256-GCM-SHA384, TLS_AES_256_GCM_SHA384]
      certificate:
        issuerRef: {name: internal, kind: ClusterIssuer, group: issuers.example.org}
        privateKey: {algorithm: ECDSA, size: 384}
        dnsNames: [www.example.org, example.org]
      groups: [P-256, X25519MLKEM768]
      serverName: www.example.org
      verification: None
      sessionResumption: Enabled
      clientAuthentication: {certificate: {secretName: clients}}
    content:
    - {path: /a.html, sizeBytes: 10240}
    - {path: /hello.jsp, configMapKeyRef: {name: pages, key: hello.jsp}}
    readiness: {path: /ready, host: "health.example.org:8081", headers: [{name: X-Probe, value: "1"}], port: 8081, timeoutSeconds: 120}
    podSecurity: Baseline
` + podFull + `  clients:
    replicas: 2
    resources: {cpu: "2", memory: 256Mi, cpuPinning: Required}
    placement: Apart
` + podFull + `    topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]
  load:
    requests:
    - path: /a.html
      weight: 3
      method: PUT
      host: www.example.org:8443
      headers: [{name: Content-Type, value: text/html}]
      body: {text: "<p>ß \"$(id)\"\n"}
      expect: {statuses: [200, 404], bodyBytes: 5}
      redirects: Follow
    - {path: /b, method: POST, body: {sizeBytes: 100000}}
    order: Sequential
    authentication: {scheme: Digest, secretName: user.a}
    client: {keepAlive: Disabled, timeoutSeconds: 2, cookies: Enabled}
    closed: {connections: 25, requestCount: 50000}
    warmup: {requestCount: 20000}
  thresholds: [{metric: LatencyP99, below: 50ms, above: 1ms}, {metric: RequestsPerSecond, above: "1500"}]
  acceptedFindings: [TooShort, TargetCPUShared]
  lane: rack-a
  suspend: true
  activeDeadlineSeconds: 600
  ttlSecondsAfterFinished: 86400
  podRetention: OnFailure
`

const httpdFull = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    image: localhost/assay-test/httpd:2.4
    server:
      httpd:
        home: /usr/lib/apache2
        executable: /usr/sbin/apache2
        mpm: Worker
        port: 8444
        startServers: 2
        serverLimit: 8
        threadsPerChild: 50
        maxRequestWorkers: 200
        listenBacklog: 1000
        keepAlive: {mode: Enabled, maxRequests: 0, timeoutMilliseconds: 20000}
        sendfile: Enabled
        http2: Enabled
        accessLog: Enabled
        forward: [{pathSuffix: .jsp, backend: app, protocol: AJP}, {pathPrefix: /api, backend: api, protocol: HTTP}]
        configuration: {configMapName: httpd.conf}
    tls:
      protocols: [TLSv1, TLSv1.1]
      ciphers: [ECDHE-RSA-AES128-SHA]
      certificate: {secretName: web-tls}
      serverName: www.example.org
      clientAuthentication: {certificate: {selfSigned: {}, privateKey: {size: 4096}}}
    volumes: [{name: apps, persistentVolumeClaim: {claimName: apps, readOnly: true}}]
    backends:
    - name: app
      image: localhost/assay-test/tomcat:9.0
      resources: {cpu: "3", memory: 512Mi, cpuPinning: Required}
      server:
        tomcat:
          home: /opt/tomcat
          base: /var/lib/tomcat
          connector:
            protocol: APR
            port: 8082
            maxThreads: 400
            minSpareThreads: 20
            acceptCount: 1000
            maxConnections: 20000
            connectionTimeoutMilliseconds: 20000
            keepAlive: {maxRequests: -1, timeoutMilliseconds: 20000}
            executor: Shared
            sendfile: Disabled
            compression: Enabled
            compressionMinSizeBytes: 1024
            http2: Enabled
            http2Limits: {maxConcurrentStreams: 200, maxConcurrentStreamExecution: 100, attributes: [{name: overheadCountFactor, value: "0"}]}
            attributes: [{name: processorCache, value: "500"}]
          applications: Image
          ajp: {port: 8010, maxThreads: 300}
          jvmOptions: ["-Xmx1g"]
          accessLog: Enabled
          gcLog: Disabled
          configuration: {configMapName: tomcat-conf}
      env: [{name: TZ, value: UTC}, {name: KEY, secretKeyRef: {name: keys, key: token}}, {name: MODE, configMapKeyRef: {name: conf, key: mode}}, {name: IP, fieldRef: {fieldPath: status.podIP}}]
      volumeMounts: [{name: apps, mountPath: /opt/apps, subPath: war, readOnly: true}]
      securityContext:
        runAsUser: 1001
        runAsGroup: 1001
        runAsNonRoot: true
        seccompProfile: {type: Localhost, localhostProfile: profiles/server.json}
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {add: [NET_BIND_SERVICE], drop: [ALL]}
    - name: api
      image: localhost/assay-test/server:dev
      server:
        generic:
          command: [/server]
          args: ["-listen", ":9090"]
          port: 9090
          gcLog: Enabled
          contentPath: /srv
  load:
    requests: [{path: /a.jsp, elements: [/a.gif, "/b.gif?c=d"]}]
    pages: {connectionsPerUser: 4}
    closed: {users: 10, durationSeconds: 30, rampSeconds: 5, thinkTime: {minMilliseconds: 500, maxMilliseconds: 1500}}
    warmup: {durationSeconds: 5}
`

const usersFull = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    image: localhost/assay-test/nginx:1
    server: {nginx: {}}
    readiness: {path: /}
  load:
    requests: [{path: /, elements: [/a]}]
    pages: {}
    stages:
      levels: [{users: 10, holdSeconds: 10}, {users: 20, rampSeconds: 1, holdSeconds: 10}]
`

const nginxFull = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    image: localhost/assay-test/nginx:1
    server:
      nginx:
        executable: /usr/local/sbin/nginx
        port: 8444
        workerProcesses: 4
        workerConnections: 20000
        backlog: 4096
        reusePort: Enabled
        keepAlive: {mode: Enabled, maxRequests: 100000, timeoutMilliseconds: 60000}
        sendfile: Enabled
        http2: Enabled
        accessLog: Enabled
        forward: [{pathPrefix: /app/, backend: app, protocol: HTTP}, {pathSuffix: .do, backend: app}]
        upstreamKeepAlive: {connections: 32, maxRequests: 100000, timeoutMilliseconds: 90000}
        configuration: {configMapName: nginx-conf}
    tls:
      protocols: [TLSv1.3]
      ciphers: [TLS_CHACHA20_POLY1305_SHA256]
      certificate: {selfSigned: {}}
    backends: [{name: app, image: "localhost/assay-test/tomcat:9.0", server: {tomcat: {}}}]
    sharedCPU: 1500m
    content: [{path: /a.html, sizeBytes: 1, fill: Text}]
    readiness: {path: /a.html}
  load:
    requestsFrom: {configMapKeyRef: {name: urls, key: list.txt}}
    client: {protocol: HTTP2, streams: 20}
    open: {requestsPerSecond: 500, ramp: {from: 100, seconds: 5}, interArrivalTimes: Poisson, durationSeconds: 30, maxConnections: 200}
    warmup: {steady: {windowSeconds: 2, windows: 4, throughputPercent: 10, p99Percent: 30, timeoutSeconds: 60}}
`

const blockFull = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target: {image: "nginx:1", server: {nginx: {}}}
  load:
    requests: [{path: /}]
    closed: {connections: 25, durationSeconds: 30}
    warmup: {durationSeconds: 10}
  alternation: {block: nginx-r1-c000-b00, variants: 2, variant: 1}
`

const genericFull = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    image: localhost/assay-test/jdkhttp:dev
    server:
      generic:
        command: [sh, -c, "exec java 'FileServer' $PORT; # \"a\"\nb"]
        args: ["${HOME}", "<a/>"]
        port: 8443
        gcLog: Enabled
        contentPath: /srv/www
    tls: {certificate: {selfSigned: {}, privateKey: {algorithm: ECDSA}, dnsNames: [a.example.org]}}
    content: [{path: /a, sizeBytes: 1}]
    volumes: [{name: conf, configMap: {name: conf.d}}, {name: tmp, emptyDir: {}}]
    env: [{name: EMPTY, value: ""}, {name: PORT, value: "8443;\n$(id)"}, {name: TOKEN, secretKeyRef: {name: keys, key: token}}]
    volumeMounts:
    - {name: conf, mountPath: /etc/server, subPath: a/b, readOnly: true}
    - {name: tmp, mountPath: /tmp}
    securityContext: {seccompProfile: {type: Localhost, localhostProfile: a}}
  load:
    requests: [{path: /a}]
    loadIsPer: Run
    stages:
      levels: [{connections: 10, rampSeconds: 5, holdSeconds: 60}, {connections: 20, holdSeconds: 60}]
      thinkTime: {minMilliseconds: 500, maxMilliseconds: 600}
      stopAt: [{metric: TargetCPU, above: 90%}]
`

const externalFull = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    server:
      external: {url: "https://web.example.org:8443", host: "www.example.org:443", certificateAuthority: {configMapName: trust}}
    tls:
      protocols: [TLSv1.2]
      ciphers: [AES128-SHA]
      serverName: www.example.org
      clientAuthentication:
        certificate: {issuerRef: {name: clients}, privateKey: {algorithm: RSA, size: 3072}, dnsNames: [client.example.org]}
  load:
    requests: [{path: /}]
    open: {requestsPerSecond: 10, requestCount: 1000}
`

const externalTrusted = `
apiVersion: assay.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: base}
spec:
  target:
    server: {external: {url: "https://10.0.0.1", certificateAuthority: {secretName: trust}}}
    tls:
      clientAuthentication:
        certificate: {issuerRef: {name: a, kind: VaultIssuer, group: example.org}}
    readiness: {path: /ready}
  load:
    requestsFrom: {configMapKeyRef: {name: urls, key: list.txt}}
    authentication:
      scheme: Form
      secretName: user
      form:
        page: "/app/?a=b"
        path: /app/j_security_check
        usernameField: j_username
        passwordField: j_password
        fields: [{name: "a.b:c[d]-e_f", value: ""}]
        expect: {statuses: [303, 200], location: /app/}
    client: {cookies: Enabled}
    stages:
      levels: [{requestsPerSecond: 10, rampSeconds: 1, holdSeconds: 60}]
      interArrivalTimes: Poisson
      maxConnections: 50
      stopAt: [{metric: FailedRequests, above: "100"}, {metric: ErrorRate, above: 5%}, {metric: LatencyP99, above: 0.5s}, {metric: ThroughputGain, below: 5%}]
`
