import http from 'k6/http';
import { parseHTML } from 'k6/html';
import { check } from 'k6';

export const options = { vus: 2, iterations: 4 };

export default function () {
  const page = http.get(__ENV.BASE_URL + '/');
  const csrf = page.html().find('input[name=csrf]').first().attr('value');
  check(csrf, { 'token of the form': (t) => t === 'c5rf' });
  const submitted = page.submitForm({ formSelector: 'form', fields: { user: 'ada lovelace' } });
  check(submitted, { 'submitted': (r) => r.json('form.user') === 'ada lovelace' && r.json('form.csrf') === 'c5rf' });
  const clicked = page.clickLink({ selector: 'a' });
  check(clicked, { 'clicked': (r) => r.url.endsWith('/json') });
  const posted = http.post(`${__ENV.BASE_URL}/post`, { list: ['a', 'b'], text: 'x=1&y=2', number: 5 });
  check(posted, {
    'encoded': (r) => r.json('form.text') === 'x=1&y=2' && r.json('form.number') === '5',
    'type': (r) => r.json('headers.Content-Type') === 'application/x-www-form-urlencoded',
  });
  check(parseHTML('<p>x</p>').find('p').text(), { 'parsed': (t) => t === 'x' });
}
