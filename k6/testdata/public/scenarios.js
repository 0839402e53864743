// Several scenarios with functions, start times, environment variables and tags of their own, and no default function.
import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';
import { Counter } from 'k6/metrics';

const visits = new Counter('visits');

export const options = {
  scenarios: {
    browse: { executor: 'shared-iterations', vus: 3, iterations: 10, maxDuration: '30s', exec: 'browse', tags: { kind: 'reader' }, env: { PAGE: '/json' } },
    buy: { executor: 'per-vu-iterations', vus: 2, iterations: 3, startTime: '200ms', exec: 'buy', tags: { kind: 'writer' }, env: { PAGE: '/post' }, gracefulStop: '2s' },
    admin: { executor: 'shared-iterations', vus: 1, iterations: 1, startTime: '300ms', exec: 'admin' },
  },
  thresholds: {
    'visits{kind:reader}': ['count==10'],
    'visits{kind:writer}': ['count==6'],
    'visits{scenario:browse}': ['count==10'],
    'http_req_duration{scenario:buy}': ['max<10000'],
    'checks{kind:writer}': ['rate==1'],
    checks: ['rate==1'],
  },
};

export function browse() {
  visits.add(1);
  check(http.get(__ENV.BASE_URL + __ENV.PAGE), { 'browsed': (r) => r.status === 200, 'scenario is browse': () => exec.scenario.name === 'browse' });
}

export function buy() {
  visits.add(1);
  check(http.post(__ENV.BASE_URL + __ENV.PAGE, 'item=7'), { 'bought': (r) => r.status === 200, 'executor': () => exec.scenario.executor === 'per-vu-iterations' });
}

export function admin() {
  check(__ENV.PAGE, { 'no environment of others': (page) => page === undefined });
}
