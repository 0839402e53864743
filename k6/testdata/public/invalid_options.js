export const options = {
  scenarios: { shop: { executor: 'shared-iterations', vus: 5, iterations: 3 }, other: { executor: 'constant-vus', vus: 1, exec: 'missing' } },
};

export default function () {}
