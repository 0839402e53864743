// Each iteration takes at least 100 ms.
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = { vus: 2, iterations: 6, minIterationDuration: '50ms', thresholds: { iteration_duration: ['min>=99'] } };

export default function () {
  const began = Date.now();
  check(http.get(`${__ENV.BASE_URL}/delay/10`), { 'answered': (r) => r.status === 200 });
  const left = 0.1 - (Date.now() - began) / 1000;
  if (left > 0) {
    sleep(left);
  }
}
