// What k6/execution says of one instance.
import http from 'k6/http';
import exec from 'k6/execution';

export const options = { scenarios: { shop: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };

export function setup() {
  const { scenarios, executionSegment, executionSegmentSequence, tags } = exec.test.options;
  http.get(`${__ENV.BASE_URL}/anything/setup/${Object.keys(scenarios)}/${executionSegment}/${executionSegmentSequence}/${tags}`);
}

export default function () {
  const { vu, scenario, instance } = exec;
  http.get(`${__ENV.BASE_URL}/anything/${[vu.idInTest, vu.idInInstance, vu.iterationInScenario, vu.iterationInInstance, instance.vusInitialized, scenario.name].join('/')}`);
}
