/** The checkout form: its fields, and what is wrong with what a visitor wrote into them. */

export interface CheckoutField {
  name: string;
  label: string;
  type: 'text' | 'email';
  autocomplete: string;
  length_max: number;
  pattern: RegExp;
  error: string;
}

export const checkoutFields: readonly CheckoutField[] = [
  field('name', 'Name', 'text', 'name', 80, /\S{2,}/, 'Please give your name.'),
  field(
    'email',
    'E-mail',
    'email',
    'email',
    120,
    /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
    'Please give an e-mail address.',
  ),
  field('street', 'Street and number', 'text', 'street-address', 120, /\S{3,}/, 'Please give your street.'),
  field(
    'postcode',
    'Postcode',
    'text',
    'postal-code',
    12,
    /^[A-Za-z0-9 -]{3,12}$/,
    'Please give a postcode.',
  ),
  field('town', 'Town', 'text', 'address-level2', 80, /\S{2,}/, 'Please give your town.'),
];

export interface CheckoutForm {
  values: Readonly<Record<string, string>>;
  errors: Readonly<Record<string, string>>;
}

export const emptyCheckout: CheckoutForm = { values: {}, errors: {} };

export function readCheckout(body: Readonly<Record<string, string>>): CheckoutForm {
  const values: Record<string, string> = {};
  const errors: Record<string, string> = {};
  for (const { name, length_max, pattern, error } of checkoutFields) {
    const value = (body[name] ?? '').trim().slice(0, length_max);
    values[name] = value;
    if (!pattern.test(value)) errors[name] = error;
  }
  return { values, errors };
}

function field(
  name: string,
  label: string,
  type: CheckoutField['type'],
  autocomplete: string,
  length_max: number,
  pattern: RegExp,
  error: string,
): CheckoutField {
  return { name, label, type, autocomplete, length_max, pattern, error };
}
