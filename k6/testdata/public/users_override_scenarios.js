// k6 warns that vus overrides the scenarios.
import http from 'k6/http';

export const options = { vus: 2, scenarios: { shop: { executor: 'shared-iterations', exec: 'shop', iterations: 5 } } };

export function shop() { http.get(`${__ENV.BASE_URL}/anything/never`); }

export default function () { http.get(`${__ENV.BASE_URL}/json`); }
