import http from 'k6/http';
import { check, group } from 'k6';

export const options = { vus: 2, iterations: 6 };

export default function () {
  const BASE_URL = __ENV.BASE_URL;
  group('set by the server', () => {
    check(http.get(`${BASE_URL}/cookies/set?session=${__VU}`), { 'kept over the redirect': (r) => r.json('cookies.session') === `${__VU}` });
    const jar = http.cookieJar();
    check(jar.cookiesForURL(BASE_URL), { 'in the jar': (c) => c.session[0] === `${__VU}` });
  });
  group('set by the script', () => {
    const jar = new http.CookieJar();
    jar.set(BASE_URL, 'theme', 'dark', { path: '/', max_age: 600 });
    check(http.get(`${BASE_URL}/cookies`, { jar, cookies: { once: 'yes' } }), {
      'own jar': (r) => r.json('cookies.theme') === 'dark' && r.json('cookies.once') === 'yes' && r.json('cookies.session') === undefined,
    });
  });
  http.cookieJar().clear(BASE_URL);
  check(http.get(`${BASE_URL}/cookies`), { 'cleared': (r) => r.json('cookies.session') === undefined });
}
