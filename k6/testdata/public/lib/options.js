export const options = { vus: 2, iterations: 6, thresholds: { checks: ['rate==1'] } };
