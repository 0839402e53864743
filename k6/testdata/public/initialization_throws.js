const users = JSON.parse(open('./data/items.csv'));

export default function () { users.length; }
