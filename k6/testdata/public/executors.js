// Each of k6's executors, by functions of its own.
import http from 'k6/http';

const BASE_URL = __ENV.BASE_URL;

export const options = {
  scenarios: {
    shared: { executor: 'shared-iterations', exec: 'shared', vus: 2, iterations: 5 },
    perUser: { executor: 'per-vu-iterations', exec: 'perUser', vus: 2, iterations: 2 },
    constantUsers: { executor: 'constant-vus', exec: 'constantUsers', vus: 1, duration: '1s', gracefulStop: '100ms' },
    rampingUsers: { executor: 'ramping-vus', exec: 'rampingUsers', stages: [{ duration: '300ms', target: 2 }], gracefulStop: '1s' },
    constantRate: { executor: 'constant-arrival-rate', exec: 'constantRate', rate: 20, duration: '1s', preAllocatedVUs: 10, startTime: '100ms' },
    rampingRate: { executor: 'ramping-arrival-rate', exec: 'rampingRate', stages: [{ target: 30, duration: '500ms' }], preAllocatedVUs: 10 },
  },
  thresholds: {
    'iterations{scenario:shared}': ['count==5'],
    'iterations{scenario:perUser}': ['count==4'],
    'http_reqs{scenario:constantUsers}': ['count>0'],
    'http_reqs{scenario:rampingUsers}': ['count>0'],
    'http_reqs{scenario:constantRate}': ['count>0'],
    'http_reqs{scenario:rampingRate}': ['count>0'],
  },
};

function visit(name) {
  http.get(`${BASE_URL}/anything/${name}`);
}

export function shared() { visit('shared'); }
export function perUser() { visit('per-user'); }
export function constantUsers() { visit('constant-users'); }
export function rampingUsers() { visit('ramping-users'); }
export function constantRate() { visit('constant-rate'); }
export function rampingRate() { visit('ramping-rate'); }
