// fail() and exceptions end the iteration, not the test.
import http from 'k6/http';
import { check, fail } from 'k6';

export const options = { vus: 1, iterations: 6, thresholds: { iterations: ['count==6'] } };

export default function () {
  const res = http.get(`${__ENV.BASE_URL}/status/${200 + 300 * (__ITER % 2)}`);
  if (!check(res, { 'status is 200': (r) => r.status === 200 })) {
    fail('unexpected status');
  }
  if (__ITER === 2) {
    undefined.property;
  }
  http.get(`${__ENV.BASE_URL}/json`);
}
