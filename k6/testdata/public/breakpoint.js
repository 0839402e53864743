// Raise the rate until a threshold ends the test.
import http from 'k6/http';

export const options = {
  scenarios: {
    breakpoint: {
      executor: 'ramping-arrival-rate',
      startRate: 10,
      timeUnit: '1s',
      preAllocatedVUs: 5,
      maxVUs: 20,
      stages: [{ duration: '1m', target: 100 }],
      gracefulStop: '0s',
    },
  },
  thresholds: { http_req_failed: [{ threshold: 'rate<0.5', abortOnFail: true, delayAbortEval: '500ms' }] },
};

export default function () {
  http.get(`${__ENV.BASE_URL}/status/${__ITER % 4 === 0 ? 200 : 503}`);
}
