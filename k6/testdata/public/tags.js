import http from 'k6/http';
import { check } from 'k6';
import exec from 'k6/execution';
import { Trend } from 'k6/metrics';

const size = new Trend('body_size');

export const options = {
  iterations: 5,
  thresholds: {
    'http_req_duration{name:item}': ['p(95)<10000'],
    'http_reqs{name:http://shop/items/${}}': ['count==0'],
    'http_reqs{type:static}': ['count==5'],
    'http_reqs{type:static,status:200}': ['count==5'],
    'http_reqs{method:POST}': ['count==5'],
    'body_size{type:small}': ['max<=10', 'min==10'],
    'http_req_failed{status:404}': ['rate==1'],
    'checks{check:found}': ['rate==1'],
    'iteration_duration{step:last}': ['max>0'],
  },
};

export default function () {
  const BASE_URL = __ENV.BASE_URL;
  exec.vu.metrics.tags.step = exec.scenario.iterationInTest === 4 ? 'last' : 'other';
  for (const id of [1, 2, 200]) {
    http.get(http.url`${BASE_URL}/items/${id}`);
  }
  http.get(`${BASE_URL}/items/5`, { tags: { name: 'item' } });
  const res = http.get(`${BASE_URL}/bytes/10`, { tags: { type: 'static' } });
  size.add(res.body.length, { type: 'small' });
  http.post(`${BASE_URL}/post`);
  check(res, { found: (r) => r.status === 200 }, { step: 'check' });
}
