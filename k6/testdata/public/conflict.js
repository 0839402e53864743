export const options = { duration: '1s', scenarios: { shop: { executor: 'shared-iterations', iterations: 5 } } };

export default function () {}
