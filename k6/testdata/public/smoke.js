// A smoke test: does the system work at all?
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  vus: 1,
  iterations: 5,
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<5000', 'max<10000'],
    checks: ['rate>0.99'],
  },
};

export default function () {
  const res = http.get(`${__ENV.BASE_URL}/`);
  check(res, {
    'status is 200': (r) => r.status === 200,
    'has the title': (r) => r.body.includes('<h1>Shop</h1>'),
    'content type is HTML': (r) => r.headers['Content-Type'].startsWith('text/html'),
  });
  sleep(0.05);
}
