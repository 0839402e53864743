// What a script logs, k6 logs once and at its level.
import http from 'k6/http';
import exec from 'k6/execution';

console.log(`initialized ${__VU}`);

export const options = { vus: 1, iterations: 2 };

export function setup() { console.info('in setup()'); return { a: 1 }; }

export default function (data) {
  console.log('iteration', exec.scenario.iterationInTest, JSON.stringify(data));
  console.warn('careful');
  console.error('bad');
  console.debug('not shown');
  http.get(`${__ENV.BASE_URL}/json`);
  http.get('http://127.0.0.1:1/');
}

export function teardown() { console.log('in teardown()'); }

export function handleSummary(data) {
  console.log('in handleSummary()', data.metrics.iterations.values.count);
  return {};
}
