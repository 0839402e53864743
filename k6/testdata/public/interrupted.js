// Iterations that are still running at the end are interrupted.
import http from 'k6/http';

export const options = { scenarios: { slow: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s', exec: 'slow' } }, thresholds: { iterations: ['count==0'] } };

export function slow() {
  http.get(`${__ENV.BASE_URL}/json`);
  http.get(`${__ENV.BASE_URL}/delay/5000`);
}
