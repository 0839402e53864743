import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';
import { SharedArray } from 'k6/data';

const users = new SharedArray('users', () => JSON.parse(open('./data/users.json')));

export const options = { scenarios: { login: { executor: 'per-vu-iterations', vus: 3, iterations: 2, maxDuration: '1m' } } };

export default function () {
  const user = users[(exec.vu.idInTest - 1) % users.length];
  const res = http.post(`${__ENV.BASE_URL}/login`, JSON.stringify(user), { headers: { 'Content-Type': 'application/json' } });
  check(res, {
    'logged in': (r) => r.status === 200,
    'token present': (r) => r.json('token') !== undefined,
  });
}
