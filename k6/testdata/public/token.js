// A token from setup() for all users.
import http from 'k6/http';
import { check, fail } from 'k6';

export const options = { vus: 3, iterations: 9, setupTimeout: '10s', teardownTimeout: '10s' };

export function setup() {
  const res = http.post(`${__ENV.BASE_URL}/login`, { username: 'ada', password: 'passwd' });
  if (!check(res, { 'setup logged in': (r) => r.status === 200 })) {
    fail('cannot log in');
  }
  return { token: res.json('token'), nested: { list: [1, 2, 3], nothing: null } };
}

export default function (data) {
  const params = { headers: { Authorization: `Bearer ${data.token}` } };
  const res = http.get(`${__ENV.BASE_URL}/orders`, params);
  check(res, { 'authorized': (r) => r.status === 200, 'data is whole': () => data.nested.list.length === 3 && data.nested.nothing === null });
}

export function teardown(data) {
  check(http.get(`${__ENV.BASE_URL}/anything/teardown/${data.token}`), { 'torn down': (r) => r.status === 200 });
}
