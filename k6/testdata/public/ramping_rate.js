import http from 'k6/http';
import { check } from 'k6';

export const options = {
  discardResponseBodies: true,
  scenarios: {
    orders: {
      executor: 'ramping-arrival-rate',
      exec: 'orders',
      startRate: 5,
      timeUnit: '1s',
      preAllocatedVUs: 3,
      stages: [{ target: 40, duration: '500ms' }, { target: 40, duration: '300ms' }, { target: 0, duration: '200ms' }],
    },
  },
};

export function orders() {
  const res = http.get(`${__ENV.BASE_URL}/json`);
  check(res, { 'body is discarded': (r) => r.status === 200 && r.body === null });
}
