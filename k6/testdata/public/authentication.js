import http from 'k6/http';
import encoding from 'k6/encoding';
import { check, group } from 'k6';

export const options = { iterations: 2 };

export default function () {
  const host = __ENV.BASE_URL.replace('http://', '');
  group('basic', () => {
    const res = http.get(`http://user:passwd@${host}/basic-auth/user/passwd`);
    check(res, { 'credentials in the URL': (r) => r.status === 200 && r.json('authenticated') });
    const encoded = encoding.b64encode('user:passwd');
    const own = http.get(`http://${host}/basic-auth/user/passwd`, { headers: { Authorization: `Basic ${encoded}` } });
    check(own, { 'header': (r) => r.status === 200 });
    const wrong = http.get(`http://user:secret@${host}/basic-auth/user/passwd`, { responseCallback: http.expectedStatuses(401) });
    check(wrong, { 'wrong password': (r) => r.status === 401 });
  });
  group('digest', () => {
    const res = http.get(`http://user:passwd@${host}/digest-auth/auth/user/passwd`, { auth: 'digest' });
    check(res, { 'digest': (r) => r.status === 200 });
  });
}
