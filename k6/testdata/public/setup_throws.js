import http from 'k6/http';

export function setup() {
  http.get(`${__ENV.BASE_URL}/anything/setup`);
  throw new Error('the shop is closed');
}

export default function () {
  http.get(`${__ENV.BASE_URL}/anything/never`);
}

export function teardown() {
  http.get(`${__ENV.BASE_URL}/anything/teardown`);
}
