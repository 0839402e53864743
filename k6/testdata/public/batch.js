import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 2, iterations: 6, batch: 4, batchPerHost: 2 };

const BASE_URL = __ENV.BASE_URL;

export default function () {
  const byIndex = http.batch([
    ['GET', `${BASE_URL}/json`, null, { tags: { ctype: 'json' } }],
    ['GET', `${BASE_URL}/bytes/10`, null, { tags: { ctype: 'bytes' } }],
    ['POST', `${BASE_URL}/post`, { user: 'ada' }],
    `${BASE_URL}/get?page=1`,
  ]);
  check(byIndex[0], { 'first is JSON': (r) => r.json('ok') });
  check(byIndex[2], { 'form was posted': (r) => r.json('form.user') === 'ada' });

  const byName = http.batch({
    item: { method: 'GET', url: `${BASE_URL}/items/3`, params: { tags: { name: 'item' } } },
    missing: { method: 'GET', url: `${BASE_URL}/items/300` },
  });
  check(byName, { 'item': (all) => all.item.json('id') === 3, 'missing': (all) => all.missing.status === 404 });
}
