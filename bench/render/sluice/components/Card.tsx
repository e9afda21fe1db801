import '../../shop/css/card.css';

export { default } from '../../shop/card';
export const settings = { hydration: 'visible' };
