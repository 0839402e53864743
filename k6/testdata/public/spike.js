import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    spike: {
      executor: 'ramping-vus',
      startVUs: 0,
      stages: [{ duration: '200ms', target: 2 }, { duration: '100ms', target: 10 }, { duration: '300ms', target: 10 }, { duration: '100ms', target: 0 }],
      gracefulRampDown: '500ms',
      exec: 'visit',
    },
  },
};

export function visit() {
  check(http.get(`${__ENV.BASE_URL}/delay/20`), { 'answered': (r) => r.status === 200 });
}
