import http from 'k6/http';
import { check } from 'k6';

export const options = { iterations: 3, maxRedirects: 2 };

export default function () {
  const BASE_URL = __ENV.BASE_URL;
  check(http.get(`${BASE_URL}/redirect/2`), { 'followed': (r) => r.status === 200 && r.url.endsWith('/get') });
  check(http.get(`${BASE_URL}/redirect/5`), { 'stopped at the limit': (r) => r.status === 302 });
  check(http.get(`${BASE_URL}/redirect/1`, { redirects: 0 }), { 'not followed': (r) => r.status === 302 && r.headers.Location === '/get' });
}
