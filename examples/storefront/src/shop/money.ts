/** `1234500` cents as `€12,345`; whole euros lose their zeros, as on a price tag. */
export function money(cents: number): string {
  const euros = Math.floor(cents / 100);
  const rest = cents % 100;
  const grouped = String(euros).replace(/\B(?=(\d{3})+$)/g, ',');
  return rest === 0 ? `€${grouped}` : `€${grouped}.${String(rest).padStart(2, '0')}`;
}
