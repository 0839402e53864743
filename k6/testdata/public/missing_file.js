const data = open('./data/missing.json');

export default function () { data.length; }
