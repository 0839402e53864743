import http from 'k6/http';

export const options = { vus: 1, iterations: 3, throw: true };

export default function () {
  http.get(`${__ENV.BASE_URL}/json`);
  http.get('http://127.0.0.1:1/');
  http.get(`${__ENV.BASE_URL}/anything/never`);
}
