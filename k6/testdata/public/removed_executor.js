export const options = { scenarios: { shop: { executor: 'externally-controlled', vus: 1, maxVUs: 2, duration: '1s' } } };

export default function () {}
