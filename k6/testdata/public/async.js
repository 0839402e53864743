import http from 'k6/http';
import { check, sleep } from 'k6';
import { setTimeout } from 'k6/timers';

export const options = { vus: 2, iterations: 4 };

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export default async function () {
  const [a, b] = await Promise.all([http.asyncRequest('GET', `${__ENV.BASE_URL}/delay/20`), http.asyncRequest('POST', `${__ENV.BASE_URL}/post`, { x: '1' })]);
  await wait(10);
  check(a, { 'first': (r) => r.json('delay') === 20 });
  check(b, { 'second': (r) => r.json('form.x') === '1' });
  const res = await http.asyncRequest('GET', `${__ENV.BASE_URL}/gzip`);
  check(res, { 'decompressed': (r) => r.json('gzipped') === true });
  sleep(0.01);
}
