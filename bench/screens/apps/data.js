// A first screen of 300 widgets: a header, a menu of 15 entries, three rows of 20 posters.
export const POSTERS = 20;
export const MENU = [
  'Home',
  'Films',
  'Series',
  'Sport',
  'News',
  'Kids',
  'Music',
  'Live',
  'Guide',
  'Recordings',
  'Search',
  'Settings',
  'Apps',
  'Profile',
  'Help',
];
export const ROWS = ['Continue watching', 'New this week', 'Because you watched dramas'].map(
  (title, row) => ({
    title,
    posters: Array.from({ length: POSTERS }, (_, at) => ({
      id: `${row}-${at}`,
      title: `Film ${row * POSTERS + at}`,
      image: `posters/${row * POSTERS + at}.png`,
      year: String(1980 + at),
    })),
  }),
);
