import http from 'k6/http';
import { check } from 'k6';

export const options = {
  iterations: 4,
  thresholds: { http_req_failed: ['rate<0.1'], checks: ['rate>0.9', 'rate<=1'], http_reqs: ['count==4'] },
};

export default function () {
  check(http.get(`${__ENV.BASE_URL}/status/${__ITER % 2 ? 200 : 500}`), { 'is 200': (r) => r.status === 200 });
}
