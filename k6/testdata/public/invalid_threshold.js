import { Counter } from 'k6/metrics';

new Counter('bought');

export const options = { scenarios: { shop: { executor: 'shared-iterations', exec: 'buy', iterations: 1 } }, thresholds: { bought: ['p(95)<3'] } };

export function buy() {}
