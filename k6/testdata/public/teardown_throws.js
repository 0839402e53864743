import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE_URL}/json`);
}

export function teardown() {
  http.get(`${__ENV.BASE_URL}/anything/teardown`);
  throw new Error('still open');
}
