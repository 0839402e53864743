// maxDuration ends a scenario before all its iterations have run.
import http from 'k6/http';
import { sleep } from 'k6';
import exec from 'k6/execution';

export const options = { scenarios: { slow: { executor: 'per-vu-iterations', vus: 2, iterations: 100, maxDuration: '1s', gracefulStop: '1s', exec: 'slow' } } };

export function slow() {
  if (exec.vu.iterationInScenario < 3) {
    http.get(`${__ENV.BASE_URL}/json`);
    return;
  }
  sleep(1.2);
}
