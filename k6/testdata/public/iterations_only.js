import http from 'k6/http';
import { check } from 'k6';

export let options = { iterations: 4 };

export default () => {
  check(http.get(`${__ENV.BASE_URL}/json`), { ok: (r) => r.json('ok') === true });
};
