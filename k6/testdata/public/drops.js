// An arrival rate with too few users drops iterations.
import http from 'k6/http';

export const options = {
  scenarios: { overload: { executor: 'constant-arrival-rate', rate: 50, duration: '1s', preAllocatedVUs: 1, maxVUs: 1, exec: 'visit' } },
  thresholds: { dropped_iterations: ['count>10'] },
};

export function visit() {
  http.get(`${__ENV.BASE_URL}/delay/200`);
}
