/** Data of the libraries' pages: the rows of a small back office, and a year's figures. */

export interface Row {
  readonly id: number;
  readonly name: string;
  readonly city: string;
  readonly amount: number;
  readonly open: boolean;
}

const cities = ['Lisbon', 'Osaka', 'Tromsø', 'Recife', 'Pune', 'Split'];

export function rows(seed: number, count = 24): Row[] {
  return Array.from({ length: count }, (_, at) => ({
    id: seed * count + at,
    name: `Order ${seed}-${at} & more`,
    city: cities[(seed + at) % cities.length] ?? '',
    amount: ((seed * 7919 + at * 104_729) % 100_000) / 100,
    open: (seed + at) % 3 === 0,
  }));
}

export interface Figure {
  readonly month: string;
  readonly sold: number;
  readonly back: number;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export function figures(seed: number): Figure[] {
  return months.map((month, at) => ({
    month,
    sold: 20 + ((seed * 31 + at * 17) % 60),
    back: 5 + ((seed * 13 + at * 7) % 15),
  }));
}

export interface LibraryPage<Data> {
  readonly data: (seed: number) => Data;
  readonly element: (data: Data) => React.ReactNode;
}
