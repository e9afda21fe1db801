import '../../shop/css/header.css';

export { default } from '../../shop/header';
export const settings = { hydration: 'load' };
