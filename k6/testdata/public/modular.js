// Functions, options and checks from modules, with renamed exports and scenarios without a default function.
import { options as shared } from './lib/options.js';
import journey from './lib/journey.js';

export const options = { thresholds: shared.thresholds, scenarios: { shop: { executor: 'per-vu-iterations', vus: shared.vus, iterations: 2, exec: 'shop' } } };
export { journey as shop };
