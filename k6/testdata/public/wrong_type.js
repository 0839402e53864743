export const options = { vus: 'five', iterations: 5 };

export default function () {}
