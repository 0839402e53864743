import http from 'k6/http';
import { check } from 'k6';
import { Counter } from 'k6/metrics';

export const options = {
  vus: 2,
  iterations: 8,
  summaryTrendStats: ['min', 'max', 'p(99.9)', 'count'],
  thresholds: { checks: ['rate==1'], http_reqs: ['count<8'], unused: ['count==0'] },
};

new Counter('unused');

export function setup() { return { shop: 'open' }; }

export default function () {
  check(http.get(`${__ENV.BASE_URL}/json`), { 'ok': (r) => r.status === 200 });
}

function junit(metrics) {
  const cases = Object.entries(metrics).flatMap(([name, m]) => Object.entries(m.thresholds || {}).map(([source, t]) => `<testcase name="${name} ${source}">${t.ok ? '' : '<failure/>'}</testcase>`));
  return `<testsuite>${cases.sort().join('')}</testsuite>`;
}

export function handleSummary(data) {
  const { iterations, checks, http_reqs, http_req_duration } = data.metrics;
  return {
    'summary.json': JSON.stringify({
      iterations: iterations.values.count, passes: checks.values.passes, fails: checks.values.fails, rate: checks.values.rate, requests: http_reqs.values.count, statistics: Object.keys(http_req_duration.values).sort(),
      duration: http_req_duration.values.count, type: http_req_duration.type, contains: http_req_duration.contains, setup: data.setup_data,
      rootChecks: data.root_group.checks.map((c) => [c.name, c.path, c.passes, c.fails]), trendStats: data.options.summaryTrendStats,
      expected: data.metrics['http_req_duration{expected_response:true}'].values.count, unused: data.metrics.unused.values.count,
    }),
    'junit.xml': junit(data.metrics),
    stdout: `${iterations.values.count} iterations\n`,
  };
}
