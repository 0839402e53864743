import http from 'k6/http';
import exec from 'k6/execution';

export const options = { vus: 1, iterations: 4 };

export default function () {
  http.get(`${__ENV.BASE_URL}/json`);
  if (__ITER === 1) {
    exec.test.fail('found a bug');
  }
}
