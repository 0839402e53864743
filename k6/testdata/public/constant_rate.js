import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    constant_request_rate: {
      executor: 'constant-arrival-rate',
      rate: 30,
      timeUnit: '1s',
      duration: '1s',
      preAllocatedVUs: 30, // one for each iteration: none is dropped, however busy the machine
      maxVUs: 30,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], dropped_iterations: ['count<1000'] },
};

export default function () {
  check(http.get(`${__ENV.BASE_URL}/json`), { 'status is 200': (r) => r.status === 200 });
}
