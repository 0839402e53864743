// A module from a server, as scripts import them from jslib.k6.io.
import http from 'k6/http';
import { check } from 'k6';

const { randomItem } = require(`${__ENV.SECURE_URL}/lib/random.js`);

export const options = { iterations: 3 };

export default function () {
  check(http.get(`${__ENV.BASE_URL}/items/${randomItem([2])}`), { 'found': (r) => r.status === 200 });
}
