import http from 'k6/http';
import { check } from 'k6';

export const options = {
  iterations: 3,
  tlsAuth: [{ cert: open(__ENV.CLIENT_CERT), key: open(__ENV.CLIENT_KEY) }],
  tlsVersion: { min: 'tls1.2', max: 'tls1.2' },
  thresholds: { checks: ['rate==1'], 'http_req_tls_handshaking{proto:HTTP/2.0}': ['max>=0'] },
};

export default function () {
  const res = http.get(`${__ENV.SECURE_URL}/client-certificate`);
  check(res, {
    'has the certificate': (r) => r.json('certificate') === true,
    'HTTP/2': (r) => r.proto === 'HTTP/2.0' && r.json('protocol') === 'HTTP/2.0',
    'version': (r) => r.tls_version === http.TLS_1_2,
  });
}
