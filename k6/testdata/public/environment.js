// Options that depend on the environment.
import http from 'k6/http';
import { check } from 'k6';

const profiles = {
  smoke: { executor: 'shared-iterations', vus: 1, iterations: 2 },
  load: { executor: 'constant-vus', vus: 10, duration: '10m' },
};

const BASE_URL = __ENV.BASE_URL;

export const options = {
  scenarios: { [__ENV.PROFILE || 'smoke']: profiles[__ENV.PROFILE || 'smoke'] },
  thresholds: { http_reqs: [`count==${Number(__ENV.EXPECTED || 2)}`] },
  ext: { loadimpact: { name: 'shop', projectID: 1 } },
};

export default function () {
  check(http.get(`${BASE_URL}/json`), { ok: (r) => r.status === 200 });
}
