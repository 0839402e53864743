// No options at all: one iteration of one user.
import http from 'k6/http';

export default function () {
  http.get(__ENV.BASE_URL + '/json');
}
