// Without iterations or a duration, each user has one of the shared iterations.
import http from 'k6/http';

export const options = { vus: 3 };

export default function () {
  http.get(`${__ENV.BASE_URL}/json`);
}
