export const options = { vus: 1, iterations: 1 };

export function visit() {}
