export const options = { thresholds: { http_req_durations: ['p(95)<500'] } };

export default function () {}
